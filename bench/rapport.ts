import { readConfig } from '../src/config.ts'
import { startServer } from '../src/server.ts'

// The service as `npm start` runs it, in a process of its own that tells its port.
const { url } = await startServer(readConfig())
process.send?.({ port: Number(new URL(url).port) })
