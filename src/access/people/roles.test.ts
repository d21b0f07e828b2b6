// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { role_scopes, scopes } from '../../app.ts'
import { scopeNames } from '../../resources/derived.ts'
import { resources } from '../../resources/index.ts'
import { createRoleScopes, type Grantor, mayGrant, roles } from './roles.ts'

const scopesOf = role_scopes.of
const given = (by: Grantor) => roles.filter((role) => mayGrant(by, role))
const givenByKey = (scopes: readonly string[] | null) => given(role_scopes.grantorOfKey(scopes))

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
    written,
    [...scopeNames(resources), 'trash', 'views', 'imports'].map((name) => `${name}:write`),
  )
})

test('a role that was handed out cannot be changed by who got it', () => {
  scopesOf('read_only')?.push('keys:write')
  assert.ok(!scopesOf('read_only')?.includes('keys:write'))
})

test('nobody gives what they lack, and only owners make owners', () => {
  assert.deepEqual(given('owner'), [...roles])
  assert.deepEqual(given('admin'), ['admin', 'member', 'read_only'])
  // A key is an admin at most, and one of some scopes gives no role that has others.
  assert.deepEqual(givenByKey(null), ['admin', 'member', 'read_only'])
  assert.deepEqual(givenByKey(['members:write']), [])
  assert.deepEqual(givenByKey(['members:write', ...(scopesOf('read_only') ?? [])]), ['read_only'])
  assert.deepEqual(givenByKey(scopes), ['member', 'read_only'])
})

test('owners are changed and removed by owners alone', () => {
  assert.deepEqual(given('owner'), [...roles])
  for (const by of ['admin', role_scopes.grantorOfKey(null)] as const)
    assert.deepEqual(given(by), ['admin', 'member', 'read_only'])
})

test('members read and write the records of every resource', () => {
  const { of } = createRoleScopes(['products'], [])
  assert.ok(of('member')?.includes('products:write'))
  assert.ok(of('read_only')?.includes('products:read'))
  assert.ok(!of('read_only')?.includes('products:write'))
})
