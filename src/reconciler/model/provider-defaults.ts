import type { PrefixDefaults } from './dialect.ts';

/**
 * The addresses that a load answers as null: none at all, and the default of the model's provider, by what the model begins with.
 * Asked of releases 1.6.0 and 1.11.0, which agree.
 */
export const PROVIDER_DEFAULTS: PrefixDefaults = {
  field: 'llm_model',
  values: new Map([
    ['', ''],
    ['anthropic/', 'https://api.anthropic.com'],
    ['claude-', 'https://api.anthropic.com'],
    ['openai/', 'https://api.openai.com'],
    ['gpt-', 'https://api.openai.com'],
    ['litellm_proxy/', 'https://api.openai.com/v1'],
    ['openhands/', 'https://llm-proxy.app.all-hands.dev'],
    ['mistral/', 'https://api.mistral.ai/v1'],
    ['deepseek/', 'https://api.deepseek.com/beta'],
    ['groq/', 'https://api.groq.com/openai/v1'],
    ['xai/', 'https://api.x.ai/v1'],
    ['ollama/', 'http://localhost:11434'],
    ['together_ai/', 'https://api.together.xyz/v1'],
    ['moonshot/', 'https://api.moonshot.ai/v1'],
    ['fireworks_ai/', 'https://api.fireworks.ai/inference/v1'],
    ['perplexity/', 'https://api.perplexity.ai'],
    ['nvidia_nim/', 'https://integrate.api.nvidia.com/v1'],
    ['dashscope/', 'https://dashscope.aliyuncs.com/compatible-mode/v1'],
    ['cerebras/', 'https://api.cerebras.ai/v1'],
    ['novita/', 'https://api.novita.ai/v3/openai'],
    ['deepinfra/', 'https://api.deepinfra.com/v1/openai'],
  ]),
};
