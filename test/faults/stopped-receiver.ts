import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

// Prints its port, then the body of each request.
const script = `
  const server = require('node:http').createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    console.log(JSON.stringify({ delivery: request.headers['x-service-delivery'], body }))
    response.end()
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))
`

/**
 * A receiver that is stopped (SIGSTOP) and whose queue of connections is full. A client waits for the connection, and
 * has sent nothing. `resume` continues the receiver.
 */
export async function startStoppedReceiver(t: TestContext) {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const received: { delivery: string; body: string }[] = []
  const lines = createInterface({ input: child.stdout })
  const [port] = (await once(lines, 'line')) as [string]
  lines.on('line', (line) => received.push(JSON.parse(line)))
  child.kill('SIGSTOP')
  await pause(50)
  const fillers: Socket[] = []
  // The queue takes one connection more than its length. Further ones are not answered.
  for (let n = 0; n < 4; n++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    fillers.push(socket)
  }
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, 'connect')))
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    resume() {
      for (const socket of fillers) socket.destroy()
      child.kill('SIGCONT')
    },
  }
}
