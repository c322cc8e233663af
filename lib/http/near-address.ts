/** True for an address of this machine or the local network, where the server is probably the user's own. */
export function isNear(address: string): boolean {
  const host = URL.canParse(address) ? new URL(address).hostname : address;
  if (host.startsWith('[')) return NEAR_6.test(host);
  return !host.includes('.') || NEAR.test(host);
}

const NEAR =
  /^(?:127|10)\.\d+\.\d+\.\d+$|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^169\.254\.|\.(?:local|lan|internal|home\.arpa|ts\.net)$/;

/** Loopback, link-local and unique local addresses (RFC 4291, RFC 4193), and the IPv4 ones above in their IPv6 form. */
const NEAR_6 = /^\[(?:::1|fe[89ab][0-9a-f]:.*|f[cd][0-9a-f]{2}:.*|::ffff:(?:7f|0?a|c0a8|a9fe)[0-9a-f]*:.*)\]$/i;
