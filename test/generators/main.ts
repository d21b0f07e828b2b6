import { useHey } from './use-hey.ts'
import { useOazapfts } from './use-oazapfts.ts'
import { useOrval } from './use-orval.ts'

const where = { url: process.env.URL ?? '', key: process.env.KEY ?? '' }
for (const use of [useHey, useOazapfts, useOrval]) {
  await use(where)
  console.log(`${use.name}: all calls work`)
}
