/** Whom a visitor meets: the name of the workspace, and those of the hosts. */
export type Whom = { company: string; hosts: string[] }

/** Such as Ada and Grace · Acme. */
export const whomText = ({ company, hosts }: Whom, language: string): string =>
  [new Intl.ListFormat(language).format(hosts), company].filter(Boolean).join(' · ')
