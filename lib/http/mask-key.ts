/** The text without the key, which servers repeat in the message that refuses it. A key of a few letters is a placeholder, not a secret. */
export function mask(text: string, key: string | null): string {
  if (key === null || key.length < 8) return text;
  const forms = [
    key,
    encodeURIComponent(key),
    Buffer.from(key)
      .toString('base64')
      .replace(/={1,2}$/, '')
      .slice(0, -1),
  ];
  return forms.reduce((shown, form) => shown.replaceAll(form, '***'), text);
}

/** The address without its user name and password and the values of its query. */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  const isSecret = url.username !== '' || url.password !== '' || url.search !== '';
  if (!isSecret) return address;
  if (url.username !== '' || url.password !== '') {
    url.username = '***';
    url.password = '';
  }
  for (const name of [...url.searchParams.keys()]) url.searchParams.set(name, '***');
  return url.href;
}
