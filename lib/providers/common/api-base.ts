/** An address without the path that the vendor's SDK appends: many write it as for a compatible server, and nothing answers at /v1/v1. */
export function withoutVersion(address: string): string {
  return address.replace(/\/(?:v1|v1beta|v1alpha|api)\/*$/, '');
}
