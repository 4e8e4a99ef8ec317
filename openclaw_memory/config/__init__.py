"""Configuration: every default once, with its unit; YAML and environment; keys as existing configurations have them."""

from openclaw_memory.config.files import CaptureConfig, VersioningConfig
from openclaw_memory.config.finding import EMBEDDERS, EmbeddingConfig
from openclaw_memory.config.memory import MemoryConfig, normalised
from openclaw_memory.config.presets import preset_of
from openclaw_memory.config.sessions import SessionRules
from openclaw_memory.config.upkeep import CompactionConfig, CompletionConfig, PromotionConfig

__all__ = [
    "EMBEDDERS",
    "CaptureConfig",
    "CompactionConfig",
    "CompletionConfig",
    "EmbeddingConfig",
    "MemoryConfig",
    "PromotionConfig",
    "SessionRules",
    "VersioningConfig",
    "normalised",
    "preset_of",
]
