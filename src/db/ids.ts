import { v7 } from 'uuid'

/** A public text id such as `wh_018f…`: unique, and growing with time, so that its order is the order of creation. */
export const newId = (prefix: 'key' | 'wh' | 'evt' | 'dlv'): string => `${prefix}_${v7().replaceAll('-', '')}`
