"""Operations on a whole library: verifying, exporting and importing, copying, reindexing, erasing."""
