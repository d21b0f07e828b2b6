import { readConfig } from '../src/config.ts'
import { startServer } from '../src/server.ts'

// Starts the service as `npm start` does, and sends its port to the parent process.
const { url } = await startServer(readConfig())
process.send?.({ port: Number(new URL(url).port) })
