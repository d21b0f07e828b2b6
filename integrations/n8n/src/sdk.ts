// The part of n8n-workflow 2 that these nodes use. The package itself would add more than 100 others, so the types are
// here, and the nodes import nothing of it at run time. README.md says how to check them against the package.

export type Value = string | number | boolean | object | null | undefined
export type Json = { [name: string]: Value }

/** A field of a node's form. */
export type Property = {
  displayName: string
  name: string
  type: 'string' | 'number' | 'boolean' | 'options' | 'multiOptions' | 'collection' | 'json'
  default: string | number | boolean | string[] | Record<string, never>
  description?: string
  placeholder?: string
  required?: boolean
  noDataExpression?: boolean
  options?: (Choice | Property)[]
  typeOptions?: {
    password?: boolean
    multipleValues?: boolean
    minValue?: number
    maxValue?: number
    numberPrecision?: number
  }
  displayOptions?: { show: Record<string, (string | boolean)[]> }
}
export type Choice = { name: string; value: string; description?: string; action?: string }

export type NodeDescription = {
  displayName: string
  name: string
  icon: `file:${string}.svg`
  group: ('input' | 'output' | 'trigger')[]
  version: number
  subtitle?: string
  description: string
  defaults: { name: string }
  inputs: 'main'[]
  outputs: 'main'[]
  usableAsTool?: true
  credentials: { name: string; required: boolean }[]
  webhooks?: {
    name: 'default'
    httpMethod: 'POST'
    responseMode: 'onReceived'
    path: string
    rawBody: boolean
  }[]
  properties: Property[]
}

export type Item = { json: Json; pairedItem?: { item: number }; error?: Error }

export type HttpRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: string
  encoding: 'text'
  returnFullResponse: true
  ignoreHttpStatusErrors: true
  disableFollowRedirect: true
  timeout: number
}
export type HttpAnswer = {
  statusCode: number
  headers: Record<string, string | string[] | undefined>
  body: unknown
}

/** The `this` of every function of a node. */
export type Context = {
  getCredentials(name: string): Promise<Json>
  getNode(): {
    id: string
    name: string
    /** Such as n8n-nodes-rapport.rapport. */
    type: string
    onError?: 'continueErrorOutput' | 'continueRegularOutput' | 'stopWorkflow'
  }
  helpers: {
    // biome-ignore lint/suspicious/noExplicitAny: n8n gives each kind of node its own context
    httpRequestWithAuthentication(this: any, credentials: string, request: HttpRequest): Promise<HttpAnswer>
  }
}

export type ExecuteContext = Context & {
  getInputData(): unknown[]
  getNodeParameter(name: string, item: number, fallback?: unknown): unknown
  evaluateExpression(expression: string, item: number): unknown
  getExecutionId(): string
  continueOnFail(): boolean
}

export type HookContext = Context & {
  getNodeParameter(name: string, fallback?: unknown): unknown
  getNodeWebhookUrl(name: 'default'): string | undefined
  getWorkflowStaticData(scope: 'node'): Json
  getWorkflow(): { id?: string; name?: string }
}

export type WebhookContext = Context & {
  getWorkflowStaticData(scope: 'node'): Json
  getHeaderData(): Record<string, string | string[] | undefined>
  getRequestObject(): { rawBody?: Uint8Array }
  getResponseObject(): { status(code: number): { json(body: object): unknown } }
}
