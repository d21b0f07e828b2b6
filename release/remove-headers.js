import { globSync, rmSync } from 'node:fs'

// npm ci runs this. A third of the pinned Node's package is headers, for packages in C++. No dependency is compiled.
for (const folder of globSync('node_modules/node-*/include')) rmSync(folder, { recursive: true })
