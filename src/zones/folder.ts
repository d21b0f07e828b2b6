/** The folder in which Linux and macOS have compiled zone files. */
export const system_folder = '/usr/share/zoneinfo'
