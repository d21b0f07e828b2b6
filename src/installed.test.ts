// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printerOf, programName, type Started } from './installed.ts'

const plain: Started = {
  argv0: 'node',
  entry: '/usr/lib/node_modules/.bin/rapport',
  single_file: false,
  host: '3f0c1b2a4d5e',
  exists: () => false,
  read() {
    throw new Error('There is no file.')
  },
}
const image = { entry: '/app/main.js' }
const file = '/data/first-api-key.txt'

test('messages name commands as the installation has them', () => {
  const cases: [Partial<Started>, string][] = [
    [{}, 'rapport'],
    [{ entry: '/home/ana/rapport/release/start.js' }, 'npm run --silent rapport --'],
    [{ entry: 'C:\\rapport\\release\\start.js' }, 'npm run --silent rapport --'],
    [{ single_file: true, argv0: './rapport' }, './rapport'],
    [{ single_file: true, argv0: 'rapport' }, 'rapport'],
    [{ single_file: true, argv0: 'C:\\My files\\rapport.exe' }, '"C:\\My files\\rapport.exe"'],
    [{ ...image, exists: (path) => path === '/.dockerenv' }, 'docker exec 3f0c1b2a4d5e rapport'],
    [{ ...image, exists: (path) => path === '/run/.containerenv' }, 'podman exec 3f0c1b2a4d5e rapport'],
    [
      { ...image, exists: (path) => path.startsWith('/var/run/secrets') },
      'kubectl exec 3f0c1b2a4d5e -- rapport',
    ],
    [image, 'rapport'],
    [{ exists: (path) => path === '/.dockerenv' }, 'rapport'],
  ]
  for (const [given, expected] of cases) assert.equal(programName({ ...plain, ...given }), expected)
})

test('a package that npx runs is named as somebody gave it to npx', () => {
  const entry = '/home/ana/.npm/_npx/fb69c8e3698a2de3/node_modules/.bin/rapport'
  const read = (path: string) => {
    assert.equal(path, '/home/ana/.npm/_npx/fb69c8e3698a2de3/package.json')
    return '{"_npx": {"packages": ["./rapport-server-0.1.0.tgz"]}}'
  }
  assert.equal(programName({ ...plain, entry, read }), 'npx ./rapport-server-0.1.0.tgz')
  assert.equal(programName({ ...plain, entry }), 'npx @rapport/server')
})

test('a file is read where it is: on this machine, or in the container', () => {
  assert.equal(printerOf(plain, file), `cat ${file}`)
  assert.equal(printerOf(plain, '/my data/key.txt'), 'cat "/my data/key.txt"')
  const docker = { ...plain, ...image, exists: (path: string) => path === '/.dockerenv' }
  assert.equal(printerOf(docker, file), `docker exec 3f0c1b2a4d5e cat ${file}`)
})
