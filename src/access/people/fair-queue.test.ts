// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue } from './fair-queue.ts'

/** Tasks that the test ends, and the order of their starts. */
function works(at_once: number, max_waiting: number) {
  const queue = createFairQueue(at_once, max_waiting)
  const begun: string[] = []
  const running: (() => void)[] = []
  const take = (key: string, name = key) =>
    queue
      .run(key, () => {
        begun.push(name)
        return new Promise<void>((end) => running.push(end))
      })
      .then(
        () => 'done',
        ({ code, headers }) => `${code} ${headers['retry-after']}`,
      )
  /** Ends the oldest work that runs, and lets the next one begin. */
  async function endOne() {
    running.shift()?.()
    await new Promise(setImmediate)
  }
  return { queue, take, begun, endOne }
}

test('no more works run at once than are allowed, and all of them have their turn', async () => {
  const { queue, take, begun, endOne } = works(2, 10)
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => take('one', name))
  assert.deepEqual([begun, queue.busy()], [['a', 'b'], 2])
  for (let n = 0; n < 5; n++) await endOne()
  assert.deepEqual([await Promise.all(all), begun], [Array(5).fill('done'), ['a', 'b', 'c', 'd', 'e']])
  assert.equal(queue.busy(), 0)
})

test('a caller waits for one work of each other caller, however many others have sent', async () => {
  const { take, begun, endOne } = works(1, 100)
  for (let n = 0; n < 50; n++) take('flood')
  take('other')
  take('owner')
  for (let n = 0; n < 4; n++) await endOne()
  assert.deepEqual(begun, ['flood', 'flood', 'other', 'owner', 'flood'])
})

test('a full queue refuses its largest sender, and lets in who waits for less', async () => {
  const { take, begun, endOne } = works(1, 4)
  take('flood', 'running')
  const waiting = [1, 2, 3, 4].map((n) => take('flood', `flood ${n}`))
  assert.equal(await take('flood'), 'unavailable 5')
  const owner = take('owner')
  assert.equal(await waiting[3], 'unavailable 5')
  for (let n = 0; n < 6; n++) await endOne()
  assert.equal(await owner, 'done')
  assert.deepEqual(begun, ['running', 'flood 1', 'owner', 'flood 2', 'flood 3'])
})

test('a queue of single works refuses the next one of any caller', async () => {
  const { take } = works(1, 3)
  for (const name of ['running', 'a', 'b', 'c']) take(name)
  assert.equal(await take('d'), 'unavailable 5')
})

test('a work that fails gives its turn on', async () => {
  const queue = createFairQueue(1, 3)
  const failing = queue.run('a', () => Promise.reject(new Error('no')))
  const next = queue.run('b', async () => 'done')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'done')
  assert.equal(queue.busy(), 0)
})
