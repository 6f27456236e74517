import type { Routes } from '../http/route.ts';
import {
  getConversations,
  getStartTasks,
  searchConversations,
  startConversation,
} from './conversation-handlers.ts';

export const conversationRoutes: Routes = [
  ['/api/v1/app-conversations', { GET: getConversations, POST: startConversation }],
  ['/api/v1/app-conversations/search', { GET: searchConversations }],
  ['/api/v1/app-conversations/start-tasks', { GET: getStartTasks }],
];
