// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subscriberOf, trustedBy } from './client-address.ts'

test('one subscriber is an IPv4 address or a /56 network, however its address is written', () => {
  for (const [address, subscriber] of [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0::/56'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:0::/56'],
    ['2001:db8:1:2::', '2001:db8:1:0::/56'],
    ['2001:db8::1', '2001:db8:0:0::/56'],
    ['fe80::1%eth0', 'fe80:0:0:0::/56'],
    ['::1', '0:0:0:0::/56'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/56'],
    ['2001:db8:1:abcd::1', '2001:db8:1:ab00::/56'],
    ['203.0.113.7:4711', '203.0.113.7'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:0::/56'],
    ['[2001:db8:1:2::9]', '2001:db8:1:0::/56'],
    ['[::ffff:203.0.113.7]:80', '203.0.113.7'],
    ['not an address', '192.0.2.1'],
    ['', '192.0.2.1'],
    ['1.2.3.4.5', '192.0.2.1'],
  ] as const)
    assert.equal(subscriberOf(address, '::ffff:192.0.2.1'), subscriber, address)
  assert.equal(subscriberOf('none', ''), 'unknown')
})

test('a proxy is believed by its network, of either kind, and nothing else is', () => {
  const trusted = trustedBy(['10.0.0.0/8', 'fd12::/16'])
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12:1::1', '10.1.2.3:99', '[fd12:1::1]:99'])
    assert.ok(trusted(address), address)
  for (const address of ['11.0.0.1', 'fd13::1', '::1', '::ffff:11.0.0.1', '', 'unknown', '10.0.0'])
    assert.ok(!trusted(address), address)
  const anybody = trustedBy(['0.0.0.0/0', '::/0'])
  for (const address of ['192.0.2.1', '2001:db8::1']) assert.ok(anybody(address))
})
