/** The text without the key: servers repeat a refused key in their message. A key of a few letters is a stand-in, not a secret. */
export function mask(text: string, key: string | null): string {
  return key === null || key.length < 8 ? text : text.replaceAll(key, '***');
}
