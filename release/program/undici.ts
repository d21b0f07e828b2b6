// In the place of undici, whose other parts cost 100 ms of a start and 14 MiB: deliveries use its Agent alone.
// @ts-expect-error: the types of undici do not describe its files.
export { default as Agent } from 'undici/lib/dispatcher/agent.js'
