import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type JsonObject, parseObject } from '../../lib/chat/json.js';
import { say, type VendorAnswer } from './vendor-server.js';

/** A request that reached one of the servers. */
export interface ReachedRequest {
  /** The host that was asked, with its port where that is not the usual one. */
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

/** What a server answers; null for a host that nobody has. */
export type AnswerOf = (request: ReachedRequest) => VendorAnswer | null;

/** Every server of the internet, behind a proxy on this machine: the program takes each for the real one. */
export interface ManyServers extends AsyncDisposable {
  readonly requests: readonly ReachedRequest[];
  /** The variables that lead the program there. */
  readonly env: Readonly<Record<string, string>>;
}

/** For these specs only: it is sent to whoever asks, and nothing else trusts it. */
const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIf+P54mq1t48gO33
Log/xg1HyHHpW/Lp3AgdhXcHlPahRANCAAR+sfjMID31tldvQRbALJ1YfK5ACN97
YFK2dhS8Qwr3k0elgU6xtSCmjMLG6ZMwPLbkWF6LDCSv2yK40USL7p3u
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBdDCCARugAwIBAgIUcZxF8ppZsysl+Y0cMvqewBRmN/MwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEZmFrZTAgFw0yNjExMjQyMjU5MzRaGA8yMTI2MTAzMTIyNTkz
NFowDzENMAsGA1UEAwwEZmFrZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABH6x
+MwgPfW2V29BFsAsnVh8rkAI33tgUrZ2FLxDCveTR6WBTrG1IKaMwsbpkzA8tuRY
XosMJK/bIrjRRIvune6jUzBRMB0GA1UdDgQWBBSpPuUyYYkPucBjnyGLKIe/vR7s
bjAfBgNVHSMEGDAWgBSpPuUyYYkPucBjnyGLKIe/vR7sbjAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0cAMEQCIGJCg0u66diPe5AglGwtUgzlV938kt9GzHlI
AeiZ3HeiAiBnx0M4wqxm8ZYq7R8HRzf5UVneNIMpZ6mDuVBaKIrLuw==
-----END CERTIFICATE-----`,
};

export async function manyServers(answer: AnswerOf): Promise<ManyServers> {
  const requests: ReachedRequest[] = [];
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Uint8Array[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const { method = '', headers, url = '' } = incoming;
    const at = new URL(url, `https://${headers.host}`);
    const body = parseObject(Buffer.concat(pieces).toString()) ?? {};
    const request = { host: at.host, method, path: at.pathname + at.search, headers, body };
    requests.push(request);
    const said = answer(request);
    if (said === null) response.destroy();
    else await say(said, response);
  };
  const encrypted = createTls(CERTIFICATE, serve);
  const proxy = createServer(serve);
  proxy.on('connect', (_request, socket) => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    encrypted.emit('connection', socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    requests,
    env: { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: '127.0.0.1', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      encrypted.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
