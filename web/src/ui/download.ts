/** Starts a plain download of the browser, with the session's cookie. The answer names the file. */
export function startDownload(href: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = ''
  document.body.append(link)
  link.click()
  link.remove()
}
