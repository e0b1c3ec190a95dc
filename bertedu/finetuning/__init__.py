"""Fine-tuning: one file a task, on any pre-trained BERT."""
