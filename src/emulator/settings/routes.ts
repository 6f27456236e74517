import type { Routes } from '../http/route.ts';
import { loadSettings, resetSettings, storeSettings } from './settings-handlers.ts';

export const settingsRoutes: Routes = [
  ['/api/settings', { GET: loadSettings, POST: storeSettings }],
  ['/api/reset-settings', { POST: resetSettings }],
];
