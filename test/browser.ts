// biome-ignore-all lint/suspicious/noExplicitAny: what the browser says is only looked at here and in tests
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { browser_flags, findBrowser } from './packages.ts'

// Headless, in a new profile. It resolves only the name of this machine.
const flags = [
  ...browser_flags,
  '--headless',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--remote-debugging-port=0',
]

type Message = { id?: number; method?: string; params?: any; result?: any; error?: { message: string } }

/**
 * Starts a browser of its own with one empty page. `onEvent` gets the events of its enabled domains.
 * https://chromedevtools.github.io/devtools-protocol
 */
export async function startBrowser(onEvent: (message: Message) => void = () => {}) {
  const profile = mkdtempSync(join(tmpdir(), 'rapport-chromium-'))
  const args = [...flags, `--user-data-dir=${profile}`, 'about:blank']
  const browser = spawn(findBrowser(), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(browser, 'exit')
  const debugger_url = await debuggerOf(browser.stderr)
  const targets = await fetch(`http://${new URL(debugger_url).host}/json/list`)
  const [tab] = ((await targets.json()) as { type: string; webSocketDebuggerUrl: string }[]).filter(
    (target) => target.type === 'page',
  )
  const socket = new WebSocket(tab!.webSocketDebuggerUrl)
  await once(socket, 'open')

  const waiting = new Map<number, PromiseWithResolvers<Message>>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if (message.id === undefined) return onEvent(message)
    waiting.get(message.id)?.resolve(message)
    waiting.delete(message.id)
  })
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('The browser is gone.'))
  })
  let last_id = 0
  async function send(method: string, params: object = {}): Promise<any> {
    const id = ++last_id
    const answer = Promise.withResolvers<Message>()
    waiting.set(id, answer)
    // The documentation takes long to draw on a busy machine.
    setTimeout(() => answer.reject(new Error(`${method}: the browser does not answer`)), 120_000).unref()
    socket.send(JSON.stringify({ id, method, params }))
    const { error, result } = await answer.promise
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

  return {
    send,
    /** Shows a page; resolves when its document has come. */
    async goto(url: string): Promise<void> {
      const { errorText } = await send('Page.navigate', { url })
      if (errorText) throw new Error(`${url}: ${errorText}`)
    },
    /** The value of an expression in the page, of its promise if it is one. */
    async evaluate<T = unknown>(expression: string): Promise<T> {
      const answer = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
      if (answer.exceptionDetails) throw new Error(answer.result.description)
      return answer.result.value
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

/** Opens a page in a browser of its own; `requests` grows with every address that the page asks for, or is refused. */
export async function openPage(url: string) {
  const requests: string[] = []
  const complaints: string[] = []
  const { send, goto, evaluate, close } = await startBrowser(({ method, params }) => {
    if (method === 'Network.requestWillBeSent') requests.push(params.request.url)
    if (method === 'Network.webSocketCreated') requests.push(params.url)
    if (method === 'Log.entryAdded' && params.entry.level === 'error') complaints.push(params.entry.text)
    if (method === 'Runtime.exceptionThrown')
      complaints.push(params.exceptionDetails.exception?.description ?? 'an exception')
  })
  try {
    for (const domain of ['Network', 'Log', 'Runtime', 'Page']) await send(`${domain}.enable`)
    await goto(url)
  } catch (error) {
    await close()
    throw error
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
      // The document may have no body yet.
      const holds = `(() => { try { return Boolean(${expression}) } catch { return false } })()`
      while (!(await evaluate(holds))) {
        if (Date.now() > deadline) throw new Error(`Never true in the page: ${expression}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    close,
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
