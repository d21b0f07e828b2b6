import type { Property } from './sdk.ts'

/** The address of an installation and a key for it. */
export class RapportApi {
  name = 'rapportApi'
  displayName = 'Rapport API'
  icon = 'file:rapport.svg' as const
  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-rapport'
  properties: Property[] = [
    {
      displayName: 'URL',
      name: 'url',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://crm.example',
      description: 'The address of your installation, without /api',
    },
    {
      displayName: 'API Key',
      name: 'key',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      placeholder: 'crm_…',
      description: 'A key with the scopes that your workflows need. A trigger needs webhooks:write.',
    },
  ]
  authenticate = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.key}}' } },
  } as const
  // Any scope that reads records is enough for a search. The index of the API is open to all, and would test nothing.
  test = {
    request: { baseURL: '={{$credentials.url}}', url: '/api/v1/search?q=rapport', method: 'GET' },
  } as const
}
