import { describe, expect, it } from '@jest/globals';
import { proxyFor } from '../../lib/http/address.js';

const PROXY = 'http://proxy.example:8080';

describe('the proxy of an address', () => {
  it('is that of its protocol, in upper or lower case', () => {
    expect(proxyFor(new URL('https://a.example'), { HTTPS_PROXY: PROXY })?.href).toBe(`${PROXY}/`);
    expect(proxyFor(new URL('https://a.example'), { https_proxy: 'proxy.example:8080' })?.href).toBe(`${PROXY}/`);
    expect(proxyFor(new URL('http://a.example'), { HTTPS_PROXY: PROXY })).toBeNull();
    expect(proxyFor(new URL('http://a.example'), { HTTP_PROXY: PROXY })?.href).toBe(`${PROXY}/`);
    expect(proxyFor(new URL('http://a.example'), { HTTP_PROXY: '' })).toBeNull();
  });

  it.each([
    ['https://api.example.com/v1', 'example.com', true],
    ['https://api.example.com/v1', '.example.com', true],
    ['https://api.example.com/v1', '*.example.com', true],
    ['https://api.example.com/v1', 'API.Example.com', true],
    ['https://notexample.com', 'example.com', false],
    ['https://a.example', 'b.example, a.example', true],
    ['https://a.example', 'b.example a.example', true],
    ['https://a.example', '*', true],
    ['https://a.example:8443', 'a.example:8443', true],
    ['https://a.example', 'a.example:443', true],
    ['https://a.example', 'a.example:8443', false],
    ['https://127.0.0.1:11434', '127.0.0.1', true],
    ['https://[::1]:11434', '::1', true],
    ['https://[::1]:11434', '[::1]:11434', true],
    ['https://a.example', '', false],
  ])('of %s with NO_PROXY=%s is exempt: %s', (address, list, exempt) => {
    expect(proxyFor(new URL(address), { HTTPS_PROXY: PROXY, NO_PROXY: list }) === null).toBe(exempt);
  });

  it('may not be a SOCKS proxy', () => {
    expect(() =>
      proxyFor(new URL('https://a.example'), { HTTPS_PROXY: 'socks5://me:password1@127.0.0.1:1080' }),
    ).toThrow("HTTPS_PROXY is a SOCKS proxy, which hi does not support: 'socks5://me:***@127.0.0.1:1080'.");
  });

  it('must be an address, and its password is not shown', () => {
    expect(() => proxyFor(new URL('https://a.example'), { HTTPS_PROXY: 'http://me:password1@' })).toThrow(
      "HTTPS_PROXY is not an address: 'http://me:***@'.",
    );
  });
});
