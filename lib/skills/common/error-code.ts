/** The file system's word for what went wrong (`ENOENT`, `EACCES`), or the error as it is. */
export function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
}
