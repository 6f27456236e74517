// Answers for every environment's settings with one record from memory, in a process of its own, and forgets what is written. The
// argument is the address to listen on; prints the port.
import { createServer } from 'node:http';
import { RECORD } from './record.mjs';

const body = Buffer.from(JSON.stringify(RECORD));
const headers = { 'content-type': 'application/json', 'content-length': body.length };

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const isKnown = request.url.endsWith('/api/settings');
  // On every address of this machine, only the machine itself is answered.
  if (!isKnown || !request.socket.remoteAddress.startsWith('127.')) response.writeHead(404).end();
  else response.writeHead(200, headers).end(body);
});
server.listen({ port: 0, host: process.argv[2], backlog: 4096 }, () => {
  console.log(server.address().port);
});
