import { describe, expect, it } from '@jest/globals';
import { isPrivate, mayLead, needsConsent } from '../../lib/mcp/auth/login-file.js';

describe('the addresses of a login', () => {
  it.each([
    ['https://mcp.example.com/mcp', true],
    ['http://127.0.0.1:1234/mcp', true],
    ['http://localhost/mcp', true],
    ['http://[::1]/mcp', true],
    ['http://mcp.example.com/mcp', false],
    ['http://localhost.example.com/mcp', false],
    ['http://127.0.0.1.example.com/', false],
    ['file:///etc/passwd', false],
    ['no address', false],
  ])('a token to %s: %s', (address, expected) => {
    expect(isPrivate(address)).toBe(expected);
  });

  it.each([
    ['https://mcp.example.com/mcp', 'https://login.example.com/', true],
    ['https://mcp.example.com/mcp', 'http://login.example.com/', false],
    ['https://mcp.example.com/mcp', 'http://127.0.0.1/', false],
    ['https://mcp.example.com/mcp', 'https://localhost/', false],
    ['https://mcp.example.com/mcp', 'https://[::1]/', false],
    ['https://mcp.example.com/mcp', 'file:///etc/passwd', false],
    ['https://mcp.example.com/mcp', 'javascript:alert(1)', false],
    ['http://127.0.0.1:1/mcp', 'http://localhost:2/', true],
    ['http://127.0.0.1:1/mcp', 'https://login.example.com/', true],
    ['http://127.0.0.1:1/mcp', 'http://login.example.com/', false],
    ['http://mcp.intern/mcp', 'http://mcp.intern/.well-known/x', true],
  ])('the server %s leads to %s: %s', (server, to, expected) => {
    expect(mayLead(server, new URL(to))).toBe(expected);
  });

  it.each([
    ['https://93.184.216.34/mcp', 'https://169.254.169.254/latest', true],
    ['https://93.184.216.34/mcp', 'https://192.168.0.1/', true],
    ['https://93.184.216.34/mcp', 'https://10.1.2.3:8443/token', true],
    ['https://93.184.216.34/mcp', 'https://[fe80::1]/', true],
    ['https://93.184.216.34/mcp', 'https://[::ffff:169.254.169.254]/', true],
    ['https://93.184.216.34/mcp', 'https://2852039166/', true],
    ['https://93.184.216.34/mcp', 'https://localhost/', true],
    ['http://127.0.0.1:1/mcp', 'https://169.254.169.254/', true],
    ['http://127.0.0.1:1/mcp', 'http://localhost:2/', false],
    ['https://10.0.0.1/mcp', 'https://10.0.0.1:8443/token', false],
    ['https://10.0.0.1/mcp', 'https://10.0.0.2/', true],
    ['https://10.0.0.1/mcp', 'https://93.184.216.34/', false],
  ])('the server %s leads to %s, which the user has to agree to: %s', async (server, to, expected) => {
    expect(await needsConsent(server, new URL(to))).toBe(expected);
  });
});
