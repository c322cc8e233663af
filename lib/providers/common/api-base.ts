/** The address without the version path, which the vendor's SDK appends itself. Many users add it, as for a compatible server. */
export function withoutVersion(address: string): string {
  return address.replace(/\/(?:v1|v1beta|v1alpha|api)\/*$/, '');
}
