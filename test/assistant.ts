import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Rapport, Reply } from './harness.ts'

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

type Message = { method: string; params?: object }

/** Sends one message, or an array of them, without a client. A message has its place as its id; a notification has none. */
export async function messagesTo(
  { call }: Pick<Rapport, 'call'>,
  messages: Message | Message[],
  headers: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
): Promise<Reply & { answers: any[] }> {
  const asMessage = (message: Message, at: number) => ({
    jsonrpc: '2.0',
    ...message,
    ...(!message.method.startsWith('notifications/') && { id: at + 1 }),
  })
  const body = Array.isArray(messages) ? messages.map(asMessage) : asMessage(messages, 0)
  const accept = 'application/json, text/event-stream'
  const reply = await call('POST', '/mcp', body, { accept, ...headers })
  const answers = [...reply.text.matchAll(/^data: (.+)$/gm)].map(([, json = '']) => JSON.parse(json))
  return { ...reply, answers }
}
