// runs: once
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** The number that a module prints. It may use `sizeOf`, in MiB, and the functions of memory.ts. */
function printed(program: string): number {
  const around = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { setImmediate as turn } from 'node:timers/promises'
    import * as memory from ${JSON.stringify(new URL('memory.ts', import.meta.url))}
    const sizeOf = (name) =>
      getHeapSpaceStatistics().find(({ space_name }) => space_name === name).space_size / 1024 ** 2
    ${program}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', around], {
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return Number(stdout)
}

/** The size of the young generation of a process that has allocated, in MiB. */
const youngAfter = (setUp: string, end = '') =>
  printed(`
    ${setUp}
    let kept = []
    for (let round = 0; round < 4000; round++) {
      if (round % 20 === 0) kept = []
      for (let n = 0; n < 2000; n++) kept.push({ n, text: 'x' + n, list: [n] })
      await turn()
    }
    ${end}
    console.log(sizeOf('new_space'))`)

/** The largest old generation of a process that replaces what it keeps, by that of all it keeps. */
const oldGrowth = (setUp: string) =>
  printed(`
    ${setUp}
    const slots = 200_000
    const kept = []
    let largest = 0
    for (let n = 0; n < slots * 30; n++) {
      kept[n % slots] = { n, text: 'x' + n, list: [n] }
      if (n % 2000 !== 0) continue
      await turn()
      // The first collections still look for the size.
      if (n > slots * 10) largest = Math.max(largest, sizeOf('old_space'))
    }
    memory.freeStartMemory()
    const alive = sizeOf('old_space')
    console.log(kept.length && largest / alive)`)

test('the young generation of a process that allocates steadily stays at 16 MiB', () => {
  assert.ok(youngAfter('') > 32)
  const limited = youngAfter('memory.limitYoungGeneration()')
  assert.ok(limited > 4 && limited <= 24, `${limited} MiB`)
})

test('a process that has freed the memory of its start has a young generation of at most 4 MiB', () => {
  const freed = youngAfter('memory.limitYoungGeneration()', 'memory.freeStartMemory()')
  assert.ok(freed <= 4, `${freed} MiB`)
})

// A busy machine marks slowly, and both grow meanwhile.
test('the old generation of a process under load is at most three quarters of what V8 would make it', () => {
  const [usual, limited] = [oldGrowth(''), oldGrowth('memory.limitOldGeneration()')]
  assert.ok(limited < 0.75 * usual, `${limited} and ${usual} times`)
})
