import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Rapport } from './harness.ts'

/** An assistant that is connected with a key, by the official client. */
export async function connectAssistant(rapport: Pick<Rapport, 'url' | 'key'>, key = rapport.key) {
  const connection = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', rapport.url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  await connection.connect(transport)
  return {
    tools: async () => (await connection.listTools()).tools,
    /** Calls a tool; returns its answer, and whether it failed. */
    // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
    async use(name: string, args: object = {}): Promise<any> {
      const { content, isError = false } = await connection.callTool({ name, arguments: args as never })
      const [first] = content as { type: string; text: string }[]
      return { ...JSON.parse(first?.text ?? '{}'), isError }
    },
    close: () => connection.close(),
  }
}
