/** Whether an address is of this machine or of a network at home: whatever runs there is somebody's own. */
export function isNear(address: string): boolean {
  const host = URL.canParse(address) ? new URL(address).hostname : address;
  return !host.includes('.') || NEAR.test(host);
}

const NEAR =
  /^(?:127|10)\.\d+\.\d+\.\d+$|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^169\.254\.|\.(?:local|lan|internal|home\.arpa|ts\.net)$/;
