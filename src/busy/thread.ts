import { parentPort, workerData } from 'node:worker_threads'
import { findIana } from 'windows-iana'
import { setZoneFolder } from '../zones/zones.ts'
import { InvalidCalendar } from './components.ts'
import { readBusyTimes } from './read.ts'
import type { Reading, ThreadData } from './reader.ts'

// The code of the thread that reads one calendar (reader.ts).

function answer({ text, zone_folder, ...options }: ThreadData): Reading {
  setZoneFolder(zone_folder)
  try {
    return { times: readBusyTimes(text, { ...options, ianaOf: (name) => findIana(name)[0] }) }
  } catch (error) {
    if (error instanceof InvalidCalendar) return { refused: error.code }
    throw error
  }
}

parentPort?.postMessage(answer(workerData))
