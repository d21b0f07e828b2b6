import assert from 'node:assert/strict'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { assist } from './assistant.ts'
import type { Where } from './same.ts'

/** The tools of assistants through LangChain's adapter, which checks arguments by their schemas before it calls. */
export async function useLangChain({ url, key }: Where): Promise<void> {
  const client = new MultiServerMCPClient({
    rapport: { transport: 'http', url: `${url}/mcp`, headers: { authorization: `Bearer ${key}` } },
  })
  const tools = new Map((await client.getTools()).map((tool) => [tool.name, tool]))
  await assist(async (name, given) => tools.get(name)?.invoke(given))
  await assert.rejects(async () => tools.get('get_contact')?.invoke({ id: 987654 }), /not_found/)
  await client.close()
}
