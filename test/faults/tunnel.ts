import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Accepts a CONNECT, and connects the socket to a port of this machine, whatever host was requested. */
export function tunnel(socket: Socket, port: number): void {
  const upstream = connect(port, '127.0.0.1', () => {
    socket.removeAllListeners('data');
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(upstream).pipe(socket);
  });
  upstream.on('error', () => socket.destroy());
  socket.on('close', () => upstream.destroy());
}

/** An https address at which the server sends first, and not TLS; closed after the test. */
export async function greeter(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.resume();
    socket.end('220 mail.example ESMTP\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
