import { createMCPClient } from '@ai-sdk/mcp'
import { assist } from './assistant.ts'
import { same, type Where } from './same.ts'

/** The tools of assistants through the client of the AI SDK. */
export async function useAiSdk({ url, key }: Where): Promise<void> {
  const client = await createMCPClient({
    transport: { type: 'http', url: `${url}/mcp`, headers: { authorization: `Bearer ${key}` } },
  })
  const tools = await client.tools()
  const call = async (name: string, given: Record<string, unknown>) =>
    tools[name]?.execute(given, { toolCallId: name, messages: [], context: {} })
  await assist(call)
  same(JSON.stringify(await call('get_contact', { id: 987654 })).includes('not_found'), true)
  await client.close()
}
