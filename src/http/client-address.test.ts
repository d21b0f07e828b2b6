import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subscriberOf, trustedBy } from './client-address.ts'

test('one subscriber is an IPv4 address or a /64 network, however its address is written', () => {
  for (const [address, subscriber] of [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['not an address', 'not an address'],
  ] as const)
    assert.equal(subscriberOf(address), subscriber, address)
})

test('a proxy is believed by its network, of either kind, and nothing else is', () => {
  const trusted = trustedBy(['10.0.0.0/8', 'fd12::/16'])
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12:1::1']) assert.ok(trusted(address), address)
  for (const address of ['11.0.0.1', 'fd13::1', '::1', '::ffff:11.0.0.1', '', 'unknown', '10.0.0'])
    assert.ok(!trusted(address), address)
  const anybody = trustedBy(['0.0.0.0/0', '::/0'])
  for (const address of ['192.0.2.1', '2001:db8::1']) assert.ok(anybody(address))
})
