// runs: once
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** The size of the young generation of a process that allocates, in MiB. */
function youngAfter(setUp: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { setImmediate as turn } from 'node:timers/promises'
    import { limitYoungGeneration } from ${JSON.stringify(new URL('memory.ts', import.meta.url))}
    ${setUp}
    let kept = []
    for (let round = 0; round < 4000; round++) {
      if (round % 20 === 0) kept = []
      for (let n = 0; n < 2000; n++) kept.push({ n, text: 'x' + n, list: [n] })
      await turn()
    }
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    console.log(young.space_size / 1024 ** 2)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return Number(stdout)
}

test('the young generation of a process that allocates steadily stays at 16 MiB', () => {
  assert.ok(youngAfter('') > 32)
  const limited = youngAfter('limitYoungGeneration()')
  assert.ok(limited > 4 && limited <= 24, `${limited} MiB`)
})
