// biome-ignore-all lint/suspicious/noExplicitAny: what the browser says is only looked at here and in tests
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findBrowser } from './packages.ts'

// Debian's Chromium, headless, in a new profile, without background requests. It resolves only the name of this
// machine.
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--remote-debugging-port=0',
]

type Message = { id?: number; method?: string; params?: any; result?: any; error?: { message: string } }

/** Opens a page in a browser of its own; `requests` grows with every address that the page asks for, or is refused. */
export async function openPage(url: string) {
  const profile = mkdtempSync(join(tmpdir(), 'rapport-chromium-'))
  const browser = spawn(findBrowser(), [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(browser, 'exit')
  const debugger_url = await debuggerOf(browser.stderr)
  const targets = await fetch(`http://${new URL(debugger_url).host}/json/list`)
  const [tab] = ((await targets.json()) as { type: string; webSocketDebuggerUrl: string }[]).filter(
    (target) => target.type === 'page',
  )
  const socket = new WebSocket(tab!.webSocketDebuggerUrl)
  await once(socket, 'open')

  const requests: string[] = []
  const complaints: string[] = []
  const waiting = new Map<number, (message: Message) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if (message.id !== undefined) waiting.get(message.id)?.(message)
    if (message.method === 'Network.requestWillBeSent') requests.push(message.params.request.url)
    if (message.method === 'Network.webSocketCreated') requests.push(message.params.url)
    if (message.method === 'Log.entryAdded' && message.params.entry.level === 'error')
      complaints.push(message.params.entry.text)
    if (message.method === 'Runtime.exceptionThrown')
      complaints.push(message.params.exceptionDetails.exception?.description ?? 'an exception')
  })
  let last_id = 0
  async function send(method: string, params: object = {}): Promise<any> {
    const id = ++last_id
    const answer = new Promise<Message>((resolve, reject) => {
      waiting.set(id, resolve)
      const fail = () => reject(new Error(`${method}: the browser is gone or does not answer`))
      socket.addEventListener('close', fail, { once: true })
      // The documentation takes long to draw on a busy machine.
      setTimeout(fail, 120_000).unref()
    })
    socket.send(JSON.stringify({ id, method, params }))
    const { error, result } = await answer
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }
  for (const domain of ['Network', 'Log', 'Runtime', 'Page']) await send(`${domain}.enable`)
  await send('Page.navigate', { url })

  /** The value of an expression in the page. */
  async function evaluate<T = unknown>(expression: string): Promise<T> {
    const answer = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
    return answer.result.value
  }

  return {
    requests,
    /** Errors of the page: exceptions, failed loads, and what its policy refused. */
    complaints,
    evaluate,
    send,
    /** Waits until the expression is true in the page; throws after 60 s. */
    async until(expression: string) {
      const deadline = Date.now() + 60_000
      while (!(await evaluate(`Boolean(${expression})`))) {
        if (Date.now() > deadline) throw new Error(`Never true in the page: ${expression}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    async close() {
      // It may be gone before it has answered, or never answer.
      socket.send(JSON.stringify({ id: ++last_id, method: 'Browser.close', params: {} }))
      const late = setTimeout(() => browser.kill('SIGKILL'), 5000)
      await exited
      clearTimeout(late)
      socket.close()
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function debuggerOf(stderr: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = []
  for await (const line of createInterface({ input: stderr })) {
    lines.push(line)
    const [, url] = /DevTools listening on (ws:\S+)/.exec(line) ?? []
    if (url) {
      // Read on, so that the browser never waits for its own error output.
      stderr.resume()
      return url
    }
  }
  throw new Error(`Chromium did not start:\n${lines.join('\n')}`)
}
