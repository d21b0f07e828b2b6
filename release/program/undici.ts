// Replaces undici in the bundle. Deliveries use only its Agent, and the other parts cost 100 ms of a start and 14 MiB.
// @ts-expect-error: the types of undici do not describe its files.
export { default as Agent } from 'undici/lib/dispatcher/agent.js'
