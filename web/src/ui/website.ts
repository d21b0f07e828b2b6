/** The URL of a website, https if it has no scheme; null if it is not a web address. */
export function websiteOf(text: string | null): string | null {
  if (!text) return null
  const address = /^[a-z][a-z+.-]*:/i.test(text) ? text : `https://${text}`
  const url = URL.canParse(address) ? new URL(address) : null
  return url && ['http:', 'https:'].includes(url.protocol) ? url.href : null
}
