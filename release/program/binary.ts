import cluster from 'node:cluster'
import { runProcess } from '../../src/cli/process.ts'

// The entry of the single executable. A worker's arguments begin with the path of the program, as if it were a script.
const words = process.argv.slice(cluster.isWorker && process.argv[2] === process.execPath ? 3 : 2)
runProcess(words, process.env)
