import type { Routes } from '../http/route.ts';
import {
  pauseSandbox,
  resumeSandbox,
  searchSandboxes,
  searchSandboxSpecs,
  startSandbox,
} from './sandbox-handlers.ts';

export const sandboxRoutes: Routes = [
  ['/api/v1/sandboxes', { POST: startSandbox }],
  ['/api/v1/sandboxes/search', { GET: searchSandboxes }],
  ['/api/v1/sandboxes/{id}/pause', { POST: pauseSandbox }],
  ['/api/v1/sandboxes/{id}/resume', { POST: resumeSandbox }],
  ['/api/v1/sandbox-specs/search', { GET: searchSandboxSpecs }],
];
