// Answers for every environment's settings with one record from memory, in a process of its own, and forgets what is written. The
// arguments are the address to listen on, and the milliseconds until an answer; prints the port. /asked tells how many reads were
// answered, and how many connections were open at once since it was asked last.
import { createServer } from 'node:http';
import { RECORD } from './record.mjs';

const body = Buffer.from(JSON.stringify(RECORD));
const headers = { 'content-type': 'application/json', 'content-length': body.length };

const latency = Number(process.argv[3] ?? 0);
let [open, most, reads] = [0, 0, 0];

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/asked') {
    response.end(JSON.stringify({ most, reads }));
    most = 0;
    return;
  }
  const isKnown = request.url.endsWith('/api/settings');
  // On every address of this machine, only the machine itself is answered.
  if (!isKnown || !request.socket.remoteAddress.startsWith('127.')) {
    response.writeHead(404).end();
    return;
  }
  reads += 1;
  if (latency === 0) response.writeHead(200, headers).end(body);
  else setTimeout(() => response.writeHead(200, headers).end(body), latency);
});
server.on('connection', (socket) => {
  open += 1;
  most = Math.max(most, open);
  socket.on('close', () => (open -= 1));
});
server.listen({ port: 0, host: process.argv[2], backlog: 4096 }, () => {
  console.log(server.address().port);
});
