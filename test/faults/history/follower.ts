import { setTimeout as pause } from 'node:timers/promises'

/**
 * Follows the stream of events from the first event, as EventSource does. After a disconnect, it connects with the last
 * id to a running process.
 */
export function followEvents(urls: () => string[], key: string) {
  const followed: string[] = []
  const stopping = new AbortController()
  let place = ''
  async function listen(url: string) {
    const query = place ? '' : '?cursor=0'
    const response = await fetch(`${url}/api/v1/events/stream${query}`, {
      headers: { authorization: `Bearer ${key}`, ...(place && { 'last-event-id': place }) },
      signal: stopping.signal,
    })
    if (!response.ok || !response.body) return
    let rest = ''
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + chunk).split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) take(frame)
    }
  }
  function take(frame: string) {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
    const data = field('data')
    if (data) followed.push(JSON.parse(data).id)
    place = field('id') ?? place
  }
  async function run() {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const all = urls()
      const url = all[turn % all.length]
      if (url) await listen(url).catch(() => {})
      await pause(50)
    }
  }
  const running = run()
  return {
    followed,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
