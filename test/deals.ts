import assert from 'node:assert/strict'
import { dataOf, fieldCodes } from './envelope.ts'
import { callOf, type Rapport } from './harness.ts'

const path = '/api/v1/deals'

/** Calls for deals of a service that the tests of a file share. */
export function dealCalls(rapport: Rapport) {
  const call = callOf(rapport)
  const made = async (resource: string, body: object) =>
    dataOf(await call('POST', `/api/v1/${resource}`, body), 201)
  const changed = async (method: string, url: string, body: object) =>
    dataOf(await call(method, url, body), 200)
  return {
    path,
    call,
    deal: (body: object = {}) => made('deals', { name: 'Relaunch', ...body }),
    contact: () => made('contacts', { first_name: 'Ada', last_name: 'Okafor', email: 'ada@acme.example' }),
    company: () => made('companies', { name: 'Acme', website: 'https://acme.example' }),
    read: async (id: number) => (await call('GET', `${path}/${id}`)).body.data,
    changed,
    put: (id: number, body: object) => changed('PUT', `${path}/${id}`, body),
    changeStage: (id: number, body: object) => changed('POST', `${path}/${id}/change-stage`, body),

    /** Sends what is a 422 with these problems, sorted, each as `field code`. */
    async refused(method: string, url: string, body: unknown, fields: string[]) {
      const reply = await call(method, url, body)
      assert.deepEqual(fieldCodes(reply).sort(), fields, JSON.stringify(body))
      return reply
    },
  }
}
