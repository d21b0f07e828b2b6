// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { useRapport } from '../harness.ts'

const rapport = useRapport()

const path = '/api/v1/companies'

test('a body in another encoding or character set is 415, never read as something else', async () => {
  const { call } = rapport
  for (const headers of [
    { 'content-encoding': 'gzip' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'application/json; charset="latin1"' },
  ] as Record<string, string>[])
    refused(await call('POST', path, '{"name":"Acme"}', headers), 415, 'unsupported_media_type')
  for (const headers of [
    { 'content-encoding': 'identity' },
    { 'content-type': 'application/json; charset=UTF-8' },
  ] as Record<string, string>[])
    assert.equal((await call('POST', path, '{"name":"Acme"}', headers)).status, 201)
})

test('a query that is not valid UTF-8 is 400; a lone % is a plain character', async () => {
  const { call } = rapport
  for (const search of ['%ff', 'a%ED%A0%80', '%c3%28'])
    refused(await call('GET', `/api/v1/contacts?search=${search}`), 400, 'bad_request')
  for (const search of ['50%', '%25', '%C3%A9', '%zz'])
    assert.equal((await call('GET', `/api/v1/contacts?search=${search}`)).status, 200, search)
})

test('operations without fields take none: a typo must not vanish', async () => {
  const { call } = rapport
  const { id } = (await call('POST', path, { name: 'Acme' })).body.data
  await call('DELETE', `${path}/${id}`)
  assert.deepEqual(problems(await call('POST', `${path}/${id}/restore`, { nam: 'x' })), {
    nam: 'unknown_field',
  })
  assert.equal((await call('GET', `${path}/${id}`)).status, 404, 'nothing was half-done')
  assert.equal((await call('POST', `${path}/${id}/restore`, {})).status, 200)
  assert.deepEqual(problems(await call('POST', `${path}/${id}/restore`, { nam: 'x' })), {
    nam: 'unknown_field',
  })
})
