// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '../../app.ts'
import { mayGrant, type Role, roles, scopesOf } from './roles.ts'

test('every scope of a role exists, and reading alone has no scope of writing', () => {
  for (const role of roles) for (const scope of scopesOf(role) ?? []) assert.ok(scopes.includes(scope), scope)
  assert.deepEqual(
    scopesOf('read_only')?.filter((scope) => !scope.endsWith(':read')),
    [],
  )
})

test('owners and admins may do everything; a member neither keys, webhooks, members nor the workspace', () => {
  assert.deepEqual([scopesOf('owner'), scopesOf('admin')], [null, null])
  const written = scopesOf('member')?.filter((scope) => scope.endsWith(':write'))
  assert.deepEqual(
    written?.sort(),
    ['activities', 'appointments', 'booking_pages', 'companies', 'contacts', 'deals', 'trash', 'views'].map(
      (name) => `${name}:write`,
    ),
  )
})

test('a role that was handed out cannot be changed by who got it', () => {
  scopesOf('read_only')?.push('keys:write')
  assert.ok(!scopesOf('read_only')?.includes('keys:write'))
})

test('nobody gives what he lacks, and only owners make owners', () => {
  const given = (by: Parameters<typeof mayGrant>[0]) => roles.filter((role) => mayGrant(by, role))
  assert.deepEqual(given({ role: 'owner' }), [...roles])
  assert.deepEqual(given({ role: 'admin' }), ['admin', 'member', 'read_only'])
  // A key is an admin at most, and one of some scopes gives no role that has others.
  assert.deepEqual(given({ scopes: null }), ['admin', 'member', 'read_only'])
  assert.deepEqual(given({ scopes: ['members:write'] }), [])
  assert.deepEqual(given({ scopes: ['members:write', ...(scopesOf('read_only') ?? [])] }), ['read_only'])
  assert.deepEqual(given({ scopes: [...scopes] }), ['member', 'read_only'])
})

test('owners are changed and removed by owners alone', () => {
  const changed = (by: Parameters<typeof mayGrant>[0]): Role[] => roles.filter((role) => mayGrant(by, role))
  assert.deepEqual(changed({ role: 'owner' }), [...roles])
  for (const by of [{ role: 'admin' } as const, { scopes: null }])
    assert.deepEqual(changed(by), ['admin', 'member', 'read_only'])
})
