document.addEventListener('click', async (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[data-captcha]') : null
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  try {
    const response = await fetch(link.href, { headers: { Accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const [old, fresh] = [document.getElementById('captcha'), page.getElementById('captcha')]
    if (old === null || fresh === null) throw new Error('no captcha')
    old.replaceWith(document.importNode(fresh, true))
    // The form remembers the choice: after an error, those who listen need the recording again.
    document.forms[0].action = page.forms[0].getAttribute('action')
    document.getElementById('code').focus()
  } catch {
    location.assign(link.href)
  }
})
