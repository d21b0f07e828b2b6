// runs: once
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { message, onRequest, receiver, sender, tcpServer } from '../../../test/sender.ts'

// A connection counts as free again in the next turn of the event loop.
const freed = () => new Promise((resolve) => setTimeout(resolve, 10))
const fine = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

test('deliveries to one receiver share a connection', async (t) => {
  const target = await tcpServer(t, (socket) => onRequest(socket, () => socket.write(fine)))
  const { send } = sender(t)
  for (let n = 0; n < 5; n++) {
    assert.equal((await send({ ...message, url: target.url })).ok, true)
    await freed()
  }
  assert.equal(target.connections(), 1)
})

test('a kept-alive connection that dies without a byte is replaced once within the attempt', async (t) => {
  for (const end of ['resetAndDestroy', 'end'] as const) {
    for (const second_answers of [true, false]) {
      const target = await tcpServer(t, (socket, number) => {
        let requests = 0
        onRequest(socket, () => {
          if ((number === 1 && ++requests === 1) || (number === 2 && second_answers)) socket.write(fine)
          else socket[end]()
        })
      })
      const { send } = sender(t)
      assert.equal((await send({ ...message, url: target.url })).ok, true)
      await freed()
      const outcome = await send({ ...message, url: target.url })
      assert.equal(outcome.error?.code, second_answers ? undefined : 'connection_reset')
      assert.equal(target.connections(), 2)
    }
  }
})

test('the replacement is a new connection, not another one that was kept alive', async (t) => {
  let requests = 0
  const target = await tcpServer(t, (socket, number) => {
    onRequest(socket, () => {
      const nth = ++requests
      if (nth <= 3) setTimeout(() => socket.write(fine), 40)
      else if (nth === 4) setTimeout(() => socket.resetAndDestroy(), 80)
      else if (number === 3) socket.write(fine)
      else socket.resetAndDestroy()
    })
  })
  const { send } = sender(t)
  const two = () =>
    Promise.all([send({ ...message, url: target.url }), send({ ...message, url: target.url })])
  await two()
  await freed()
  assert.equal(target.connections(), 2)
  // The first of these ends well, so its connection is free when the second one loses the other.
  for (const outcome of await two()) assert.equal(outcome.error, null)
  assert.deepEqual([target.connections(), requests], [3, 5])
})

test('a kept-alive connection that dies within an answer is not replaced', async (t) => {
  const target = await tcpServer(t, (socket) => {
    let requests = 0
    onRequest(socket, () => {
      if (++requests === 1) socket.write(fine)
      else socket.end('HTTP/1.1 2')
    })
  })
  const { send } = sender(t)
  assert.equal((await send({ ...message, url: target.url })).ok, true)
  await freed()
  assert.notEqual((await send({ ...message, url: target.url })).error, null)
  assert.equal(target.connections(), 1)
})

test('a request whose time ran out while it waited for a connection is never sent', async (t) => {
  let requests = 0
  const arrived = Promise.withResolvers<Socket>()
  const target = await tcpServer(t, (socket) => {
    onRequest(socket, () => {
      if (++requests === 1) arrived.resolve(socket)
      else socket.write(fine)
    })
  })
  const { send, close } = sender(t, { timeout_ms: 60_000, connections_per_origin: 1 })
  const first = send({ ...message, url: target.url })
  const connection = await arrived.promise
  const hurried = [1, 2].map(() => send({ ...message, url: target.url, timeout_ms: 50 }))
  for (const { error } of await Promise.all(hurried)) assert.equal(error?.code, 'timeout')
  connection.write(fine)
  assert.equal((await first).error, null)
  await close()
  assert.equal(requests, 1)
})

test('closing lets running attempts end', async (t) => {
  const target = await receiver(t, { answer: { delay_ms: 100, body: 'late' } })
  const made = sender(t)
  const running = made.send({ ...message, url: target.url })
  await target.waitFor(1)
  await made.close()
  assert.equal((await running).response?.body, 'late')
})
