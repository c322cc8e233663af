/** An address without the path that the vendor's SDK puts behind it: many write it as they do for a compatible server, and nothing answers at /v1/v1. */
export function withoutVersion(address: string): string {
  return address.replace(/\/(?:v1|v1beta|v1alpha|api)\/*$/, '');
}
